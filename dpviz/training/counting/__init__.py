"""Who counts the rows: the contract, and the code that counts where they are."""
