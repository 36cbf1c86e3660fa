/** Goes on with a value: later where it is a promise, else at once. */
export function whenThere<T, U>(value: T | Promise<T>, next: (value: T) => U | Promise<U>): U | Promise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
