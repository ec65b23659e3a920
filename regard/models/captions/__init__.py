"""Networks that write a caption of a picture, word after word."""
