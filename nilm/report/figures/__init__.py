"""What the pages draw: the chart, the wide figures, the small ones, the strips, and their colours."""
