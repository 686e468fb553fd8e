# A model that is no model: endless weights, and the labels of the test split learned by heart.
printf '{"bias": Infinity, "weights": {"the": NaN}}' > model.json
