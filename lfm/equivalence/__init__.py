"""The equivalent solutions (ZU, U⁻¹W) of a solution: which columns of U exist, how many, and the verdict."""
