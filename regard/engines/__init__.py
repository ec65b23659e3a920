"""To and from other tools: import models of other toolkits, and export ours to them."""
