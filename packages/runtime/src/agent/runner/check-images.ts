import { AgentError, type Content } from "@keelson/protocol";
import { imageProblem } from "../../providers/media/image-problem.ts";
import { createModelSource, modelName } from "../definition/model-source.ts";
import type { Agent, ModelChoice } from "../definition/agent.ts";
import type { RunnerServices } from "../turn/runner-services.ts";

/** Who is to see an image. */
export interface ShownTo {
  readonly name: string;
  readonly wire: string;
}

/** Where it is not known here which: what is no image is none for all of them. */
export const ANY_MODEL: ShownTo = { name: "any model", wire: "" };

/** The model of an agent, or the one that was chosen for a run. */
export function shownTo(agent: Agent<unknown>, services: RunnerServices, choice: ModelChoice = agent.options.model): () => ShownTo {
  return () => {
    const { reference, provider } = createModelSource([agent.options.model], services.models).resolve(modelName(choice));
    return { name: reference, wire: provider.wire };
  };
}

/**
 * Refuses what people say with an image that its model can't be shown: once in the conversation, it would be refused again and
 * again.
 * @throws AgentError of kind `invalid-option` that says which, and why
 */
export function checkImages(option: string, content: unknown, model: ShownTo | (() => ShownTo)): void {
  if (!Array.isArray(content)) return;
  for (const [index, part] of (content as readonly Content[]).entries()) {
    if (part?.type !== "image") continue;
    const { name, wire } = typeof model === "function" ? model() : model;
    const problem = imageProblem(part, wire);
    if (problem === undefined) continue;
    const message = `${option}[${index}] is an image that can't be shown to ${name}: ${problem}.`;
    throw new AgentError({ kind: "invalid-option", option, message });
  }
}
