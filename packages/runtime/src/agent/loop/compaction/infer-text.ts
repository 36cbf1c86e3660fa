import type { InferRequest } from "@keelson/protocol";
import type { Loop } from "../../turn/loop.ts";
import { inferBeside } from "../infer-beside.ts";

/** Asks the run's model something for a compaction. @returns what it said; nothing where it gave no whole response in words */
export async function inferText(loop: Loop, key: string, question: Omit<InferRequest, "model">): Promise<string | undefined> {
  const came = await inferBeside(loop, key, question, "compaction");
  const text = came.type === "response" ? came.fold.text.trim() : "";
  return text === "" ? undefined : text;
}
