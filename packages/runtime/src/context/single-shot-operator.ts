import { ModelError, OperatorError, toOperatorFailure, ZERO_USD, type ModelFailure, type Operator, type Provider } from "@keelson/protocol";
import { infer } from "../providers/infer.ts";
import { responseFailure } from "../providers/response-failure.ts";
import { compileRequest } from "./compile-request.ts";
import { checkOptionNames } from "../json/option-names.ts";

export interface SingleShotOptions {
  readonly provider: Provider;
  /** The vendor's model id. */
  readonly model: string;
  readonly systemPrompt?: string | undefined;
  readonly maxTokens?: number | undefined;
}

/** An operator that makes exactly one model call: no tools, no loop. Its exit is always `complete`; a response that is none is an error. */
export function createSingleShotOperator(options: SingleShotOptions): Operator {
  checkOptionNames("createSingleShotOperator", options, { provider: true, model: true, systemPrompt: true, maxTokens: true });
  const { provider, model, systemPrompt, maxTokens } = options;
  return {
    async execute(input, context) {
      const addendum = input.config?.systemAddendum;
      const system = [systemPrompt, addendum].filter((part) => part !== undefined && part !== "").join("\n\n");
      const request = compileRequest({
        model: input.config?.model ?? model,
        system,
        messages: [{ role: "user", content: input.message }],
        settings: maxTokens === undefined ? {} : { maxTokens },
      });
      const result = await context.step("infer", async ({ signal, idempotencyKey }) => {
        const response = await infer(provider, request, { signal, idempotencyKey });
        const { content, usage, cost } = response;
        const failure = responseFailure(
          response,
          { provider: provider.name, model: request.model, reference: `${provider.name}/${request.model}` },
          true,
        );
        if (failure !== undefined) throw new ModelError({ ...failure, usage });
        return { content, usage, cost };
      });
      if (!result.ok) throw new OperatorError(toOperatorFailure(result.failure as ModelFailure));
      const { content, usage, cost } = result.value;
      const untracked = [
        ...(usage.inputTokens === null ? ["tokensIn"] : []),
        ...(usage.outputTokens === null ? ["tokensOut"] : []),
        ...(cost === null ? ["cost"] : []),
      ];
      return {
        message: content.filter((part) => part.type !== "thinking"),
        exitReason: { type: "complete" },
        metadata: {
          tokensIn: usage.inputTokens ?? 0,
          tokensOut: usage.outputTokens ?? 0,
          cost: cost ?? ZERO_USD,
          turnsUsed: 1,
          subDispatches: [],
          durationMs: result.endedAt - result.startedAt,
          untracked,
        },
        effects: [],
      };
    },
  };
}
