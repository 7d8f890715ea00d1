"""Why a node got its class: shares of hops, words of its text, neighbours, and what to look at."""
