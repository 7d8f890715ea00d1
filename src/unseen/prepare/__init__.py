"""From texts and features to vectors: encode, centre, latent semantic analysis. Fitted once."""
