import { AgentError, ModelError, type Provider } from "@keelson/protocol";
import type { ModelRegistry } from "../../providers/model-registry.ts";
import { modelFacts, type ModelFacts } from "../../providers/model-facts.ts";
import { priceOf } from "../../providers/prices.ts";
import type { ModelPrice } from "../../providers/model-price.ts";
import type { TokenTarget } from "../../providers/token-bound.ts";
import type { Agent, ModelChoice } from "./agent.ts";

/** A model that can be called. */
export interface Model {
  /** What events, logs and `setModel` call it. */
  readonly reference: string;
  readonly provider: Provider;
  /** The vendor's id. */
  readonly id: string;
  readonly price: ModelPrice | null;
  readonly facts: ModelFacts;
  /** Where its requests go, as far as their tokens depend on it. */
  readonly target: TokenTarget;
}

/** Finds the models of one agent: its own providers first, then the registry. */
export interface ModelSource {
  /** @throws AgentError of kind `model` that says what there is */
  resolve(reference: string): Model;
}

export function createModelSource(choices: readonly (ModelChoice | undefined)[], registry: ModelRegistry | undefined): ModelSource {
  return new AgentModels(choices, registry);
}

class AgentModels implements ModelSource {
  readonly #choices: readonly (ModelChoice | undefined)[];
  readonly #registry: ModelRegistry | undefined;

  constructor(choices: readonly (ModelChoice | undefined)[], registry: ModelRegistry | undefined) {
    this.#choices = choices;
    this.#registry = registry;
  }

  resolve(reference: string): Model {
    const found = this.#find(reference);
    const { provider, facts } = found;
    return { ...found, target: { wire: provider.wire, model: found.reference, contextWindow: facts.contextWindow ?? null } };
  }

  #find(reference: string): Omit<Model, "target"> {
    const registry = this.#registry;
    const provider = this.#choices.findLast((choice): choice is Provider => typeof choice === "object" && choice.name === reference);
    if (provider)
      return {
        reference,
        provider,
        // A name without a model: the provider has one of its own.
        id: reference.includes("/") ? reference.slice(reference.indexOf("/") + 1) : "",
        price: (provider as { readonly price?: ModelPrice }).price ?? priceOf(reference),
        facts: modelFacts(reference),
      };
    try {
      if (registry === undefined)
        throw new ModelError({
          kind: "invalid-request",
          message: `there is no model registry to find "${reference}" in: give the runner \`models\``,
        });
      const found = registry.resolve(reference);
      return { reference: found.reference, provider: found.provider, id: found.model, price: found.price, facts: found.facts };
    } catch (error) {
      if (!ModelError.is(error)) throw error;
      throw new AgentError({ kind: "model", model: error.failure, message: error.message }, { cause: error });
    }
  }
}

/** The models of an agent, or those of the registry alone where there is no agent. */
export function modelsOf(agent: Agent<unknown> | undefined, registry: ModelRegistry | undefined): ModelSource {
  const { model, fallbackModel } = agent?.options ?? {};
  return createModelSource([model, fallbackModel], registry);
}

export function modelName(choice: ModelChoice): string {
  return typeof choice === "string" ? choice : choice.name;
}

/** The model, as failures name it. */
export function originOf({ provider, id, reference }: Model): {
  readonly provider: string;
  readonly model: string;
  readonly reference: string;
} {
  return { provider: provider.name, model: id, reference };
}
