import { type Tool, ToolError } from "@keelson/protocol";
import { approvalReason } from "./approval-reason.ts";

/** The same tool for a program without an approver: a call that needs a person's approval fails instead of running. */
export function unattendedTool(tool: Tool): Tool {
  if (tool.needsApproval === undefined) return tool;
  return Object.create(tool, {
    needsApproval: { value: undefined },
    execute: {
      async value(...[input, call]: Parameters<Tool["execute"]>) {
        const reason = await approvalReason(tool, input, call);
        if (reason === undefined) return tool.execute(input, call);
        const message = `${reason} Nobody can be asked here, so it did not run: a runner made with createRunner can ask.`;
        throw new ToolError({ kind: "execution-failed", tool: tool.name, message });
      },
    },
  }) as Tool;
}
