"""Result values to pages: text, Markdown, HTML. Computes no number, opens no file."""
