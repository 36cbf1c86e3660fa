import { AgentError, type ApprovalRequest, type Approver, type Decision, type JsonValue, LogError } from "@keelson/protocol";
import type { Run, SingleRunner } from "keelson";
import type { Story } from "./story.ts";

/** Whoever answers the questions of a story's runs, here or elsewhere. */
export class Person {
  readonly #story: Story;
  readonly #oddities: string[];
  #questions = 0;

  constructor(story: Story, oddities: string[]) {
    this.#story = story;
    this.#oddities = oddities;
  }

  /** Asked in the process of the run. */
  approver(sleep: (ms: number) => Promise<void>): Approver {
    return (request: ApprovalRequest): ReturnType<Approver> => {
      const index = this.#questions++;
      if (this.#planned(index) === "hang") return new Promise(() => {});
      const decision = this.#decisionFor(request.type, index);
      return index % 2 === 0 ? decision : sleep(100).then(() => decision);
    };
  }

  /** Takes the questions of a run as they come, for a while. */
  async takeQuestions(run: Run<unknown>): Promise<void> {
    let taken = 0;
    for await (const { request, decide } of run.approvals()) {
      if (this.#planned(taken) !== "throw") {
        const decision = this.#decisionFor(request.type, taken);
        if (decision !== undefined)
          await decide(decision).catch((error: unknown) => {
            if (!AgentError.is(error) && !LogError.is(error)) this.#oddities.push(`decide failed: ${String(error)}`);
          });
      }
      if (++taken >= this.#story.approvals.leavesAfter) return;
    }
  }

  async decideElsewhere(runner: Pick<SingleRunner<unknown>, "approve">, token: string, type: ApprovalRequest["type"]): Promise<void> {
    let decision: Decision | undefined;
    try {
      decision = this.#decisionFor(type, this.#questions++);
    } catch {
      return;
    }
    if (decision === undefined) return;
    try {
      await runner.approve(token, decision);
    } catch (error) {
      if (!AgentError.is(error, "invalid-token") && !AgentError.is(error, "invalid-option"))
        this.#oddities.push(`runner.approve failed: ${String(error)}`);
    }
  }

  #planned(index: number): Story["approvals"]["decisions"][number] {
    const { decisions } = this.#story.approvals;
    return decisions[Math.min(index, decisions.length - 1)] ?? "allow";
  }

  #decisionFor(type: ApprovalRequest["type"], index: number): Decision | undefined {
    const planned = this.#planned(index);
    if (planned === "throw") throw new Error("the approver failed");
    if (planned === "nothing" || planned === "hang") return undefined;
    if (planned === "nonsense") return { type: "perhaps" } as never;
    if (planned === "allow-modified")
      return { type: planned, input: (index % 2 === 0 ? { n: 5, task: "edited" } : "no object") as JsonValue };
    if (type === "approval") return planned === "deny" ? { type: "deny", reason: "no" } : ({ type: planned } as Decision);
    return planned === "retry" ? { type: "retry" } : planned === "allow" ? { type: "supply", output: "supplied" } : { type: "fail" };
  }
}
