"""The recurrent systems that came before the Transformer, and their attention."""
