"""What a recipe would take: tokens, operations, and hours on GPUs, from what was measured and published."""
