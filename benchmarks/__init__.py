"""Speed, as numbers anyone can rerun. Machines differ and are shared: compare ratios taken within one run."""
