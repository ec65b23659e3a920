"""To and from other tools: models of other toolkits brought in, and ours written for theirs."""
