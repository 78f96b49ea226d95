"""Estimators of X ≈ ZW for rows without order, in scikit-learn's manner."""
