/** What a configuration puts together: each is registered in train.mjs and named by `_target_`. */

/** Points of y = slope * x + offset. */
export const points = ({ xs, slope, offset = 0 }) => xs.map((x) => ({ x, y: slope * x + offset }));

/** y = weight * x */
export class Line {
  constructor({ name, weight }) {
    this.name = name;
    this.parameters = { weight };
  }
  at(x) {
    return this.parameters.weight * x;
  }
  /** How much `at(x)` changes with each parameter. */
  gradient(x) {
    return { weight: x };
  }
  loss(points) {
    return points.reduce((sum, { x, y }) => sum + (this.at(x) - y) ** 2, 0);
  }
  toString() {
    const values = Object.entries(this.parameters).map(([k, v]) => `${k} ${v.toFixed(4)}`);
    return `${this.name}: ${values.join(", ")}`;
  }
}

/** y = weight * x + bias */
export class Affine extends Line {
  constructor({ bias, ...line }) {
    super(line);
    this.parameters.bias = bias;
  }
  at(x) {
    return super.at(x) + this.parameters.bias;
  }
  gradient(x) {
    return { weight: x, bias: 1 };
  }
}

/** Gradient descent with steps that may get smaller. */
export class Descent {
  constructor(model, { lr, decay }) {
    Object.assign(this, { model, lr, decay });
  }
  step(points, number) {
    const size = this.lr / (1 + this.decay * number);
    const slopes = Object.fromEntries(Object.keys(this.model.parameters).map((key) => [key, 0]));
    for (const { x, y } of points)
      for (const [key, change] of Object.entries(this.model.gradient(x)))
        slopes[key] += 2 * (this.model.at(x) - y) * change;
    for (const key of Object.keys(slopes)) this.model.parameters[key] -= size * slopes[key];
  }
}
