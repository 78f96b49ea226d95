"""The paper's figures and tables, computed again, with ours beside them."""
