"""What makes an estimator's answer a first solution: rows that it missed, and variants of one appliance."""
