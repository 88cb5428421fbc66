import jax
import jax.numpy as jnp
import optax

x = jax.random.normal(jax.random.key(0), (500, 5))
weights, best = jnp.zeros(5), optax.adam(0.1)
state = best.init(weights)


@jax.jit
def step(weights, state):
    loss, slope = jax.value_and_grad(lambda w: jnp.mean((x @ w - x.sum(1)) ** 2))(weights)
    change, state = best.update(slope, state)
    return optax.apply_updates(weights, change), state, loss


for _ in range(100):
    weights, state, loss = step(weights, state)
score = float(loss)
assert score < 0.1
print("Final Validation Performance:", score)
