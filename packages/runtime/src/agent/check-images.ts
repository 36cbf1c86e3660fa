import { AgentError, type Content } from "@keelson/protocol";
import { imageProblem } from "../providers/media/image-problem.ts";
import { createModelSource, modelName } from "./model-source.ts";
import type { Agent, ModelChoice } from "./agent.ts";
import type { World } from "./world.ts";

/**
 * Refuses what people say with an image that its model can't be shown: once in the conversation, it would be refused again and
 * again.
 * @throws AgentError of kind `invalid-option` that says which, and why
 */
export function checkImages(
  option: string,
  content: unknown,
  agent: Agent<unknown>,
  world: World,
  choice: ModelChoice = agent.options.model,
): void {
  if (!Array.isArray(content)) return;
  for (const [index, part] of (content as readonly Content[]).entries()) {
    if (part?.type !== "image") continue;
    const model = createModelSource([agent.options.model], world.models).resolve(modelName(choice));
    const problem = imageProblem(part, model.provider.wire);
    if (problem === undefined) continue;
    const message = `${option}[${index}] is an image that can't be shown to ${model.reference}: ${problem}.`;
    throw new AgentError({ kind: "invalid-option", option, message });
  }
}
