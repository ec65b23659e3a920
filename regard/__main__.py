"""`python -m regard` is the same as `regard`."""

import sys

from regard.cli import main

sys.exit(main())
