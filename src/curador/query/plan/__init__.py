"""From a question and a budget to a plan: what is measured, with which noise, at what cost."""
