"""tiepoint joins embedding spaces: it measures which model to choose, and proves a move between them."""
