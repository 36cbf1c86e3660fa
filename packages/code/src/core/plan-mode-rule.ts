import { textMessage, type Message, type PermissionMode } from "@keelson/protocol";
import type { Rule } from "keelson/context";

const ON = "Plan mode is on.";
const OFF = "Plan mode is off.";

/**
 * Creates the rule that informs the model about plan mode, which is the permission mode `plan-only`: in a message before the first request for which it
 * holds, and before the first for which it no longer holds. A message, because a system prompt that changed would cost the whole cached conversation.
 * @param canPresent True if the agent has the tool that asks a person about the plan
 */
export function createPlanModeRule({ canPresent }: { readonly canPresent: boolean }): Rule {
  return {
    name: "plan-mode",
    trigger: { type: "before", operation: "infer" },
    // It depends on nothing but the conversation and the mode, and a replay finds its message in the log.
    pure: true,
    async run({ context }) {
      const { permissionMode: mode, messages } = context;
      if (mode === undefined) return;
      const isOn = mode === "plan-only";
      if (isOn !== wasToldOn(messages))
        await context.injectMessage(textMessage("system", isOn ? planModeWords(canPresent) : endWords(mode)));
    },
  };
}

/** Returns true if the last message about it says that plan mode is on. A compaction may have removed it; then the model is informed again. */
function wasToldOn(messages: readonly Message[]): boolean {
  for (let index = messages.length - 1; index >= 0; index--) {
    const { role, content } = messages[index] as Message;
    const [first] = role === "system" ? content : [];
    if (first?.type !== "text") continue;
    if (first.text.startsWith(ON)) return true;
    if (first.text.startsWith(OFF)) return false;
  }
  return false;
}

function planModeWords(canPresent: boolean): string {
  const end = canPresent
    ? "When the plan is complete, call present_plan with all of it; do not repeat it as an answer. The person accepts it, changes it or asks for more."
    : "Answer with the complete plan: the changes by file, in order, and how they are checked.";
  return `${ON} Find out what the task needs and plan it. Change nothing: only calls that read are allowed, commands that read among them. ${end}`;
}

function endWords(mode: PermissionMode): string {
  return `${OFF} The permission mode is ${mode}: you can change files and run commands again.`;
}
