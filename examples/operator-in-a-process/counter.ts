// #region served
import { serveOperator } from "keelson/environment";
import { operatorOutput } from "./output.ts";

serveOperator({
  async execute({ message }, context) {
    const text = message.map((part) => (part.type === "text" ? part.text : "")).join(" ");
    const counted = await context.step("count", async () => text.split(/\s+/).length); // recorded in the log of its run
    if (text.includes("crash")) process.abort();
    return operatorOutput(counted.ok ? `${counted.value} words` : counted.failure.message);
  },
});
// #endregion
