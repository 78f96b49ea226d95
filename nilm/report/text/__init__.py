"""What the pages say: sentences, portraits of appliances, and numbers in words."""
