"""The paper's figures and tables, computed again, with ours beside them.

One module per figure or table, each with `run(scale) -> Outcome`. This one knows which there are; writing
them to files is `nilm.experiments.write`.
"""
