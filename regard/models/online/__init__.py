"""Networks that write while they read (Luo et al. 2016): at each step they write or wait."""
