"""What is measured about the package: quality, noise, shapes, the choice of K, speed, scale. `python -m benchmarks`."""
