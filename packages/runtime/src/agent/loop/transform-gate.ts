import type { JsonValue } from "@keelson/protocol";
import { asJson } from "../../json/json-value.ts";
import type { Gate } from "../turn/moments.ts";
import { settleCall } from "../turn/pending-call.ts";
import { fitArguments } from "./fit-arguments.ts";

/** Rules may change the arguments, give a result in the tool's place, or halt; what they changed is validated again. */
export const transformGate: Gate = {
  name: "transform",
  skipsEdited: true,
  async pass(loop, call) {
    if (!loop.context.watches("execute-tool", "before")) return call;
    const result = await loop.context.run<{ readonly input: JsonValue } | { readonly skipped: JsonValue }>({
      type: "execute-tool",
      phase: "before",
      key: call.key,
      input: { name: call.tool.name, input: call.input },
      execute: (_context, input) => ({ input: (input as { readonly input: JsonValue }).input }),
      accept: (output) => ({ skipped: output }),
    });
    if ("skipped" in result) return settleCall(call, "replaced", { output: asJson(result.skipped), isError: false });
    return result.input === call.input ? call : fitArguments({ ...call, input: result.input }, call.tool, result);
  },
};
