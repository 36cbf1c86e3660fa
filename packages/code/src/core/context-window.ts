import type { ModelRegistry } from "keelson/providers";

/** Returns the tokens of the context window of a model; `undefined` if they are not known. */
export function contextWindowOf(models: Pick<ModelRegistry, "resolve">, model: string): number | undefined {
  try {
    return models.resolve(model).facts.contextWindow;
  } catch {
    // The environment gives no access to the model.
    return undefined;
  }
}
