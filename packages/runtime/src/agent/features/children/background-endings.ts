import type { JsonObject, OperatorInput } from "@keelson/protocol";
import { messageOperation } from "../../../context/message-operation.ts";
import type { ChildEnding, ChildState } from "../../../session/child-state.ts";
import type { Loop } from "../../turn/loop.ts";
import { MAX_HANDOFFS } from "../../definition/children/handoff.ts";
import { afterChild } from "../hooks/subagent-hooks.ts";
import { hooksOf } from "../hooks/loop-hooks.ts";
import { forgetJob } from "./background-job.ts";
import type { BackgroundOptions } from "./background-options.ts";
import { reportOf } from "./background-report.ts";
import { childIds } from "./child-plan.ts";
import { recordEnding } from "./record-ending.ts";
import { recordStart } from "./record-start.ts";
import type { Work } from "./work.ts";

const NO_INPUT: OperatorInput = { message: [], trigger: "task", metadata: {} };

/** How work beside the turns of a run is recorded as over: once, and in one append with what the model is told of it. */
export class BackgroundEndings {
  readonly #options: BackgroundOptions;
  /** What is at work, by its id. What is recorded as over is taken out. */
  readonly #works: Map<string, Work>;
  readonly #loop: Loop;

  constructor(options: BackgroundOptions, works: Map<string, Work>, loop: Loop) {
    this.#options = options;
    this.#works = works;
    this.#loop = loop;
  }

  /** Where a message of a user may stand. @returns whether an agent to be taken up goes on in its place */
  async settle(work: Work, ending: ChildEnding): Promise<boolean> {
    await this.#notifyHooks(work.state, ending);
    if (work.isTold === true) this.#record(work, ending);
    else if (this.#passOn(work, ending)) return true;
    else await this.#tell(work, ending);
    return false;
  }

  /** For a run that is over itself: the model is not told. */
  async settleSilently(work: Work, ending: ChildEnding): Promise<void> {
    await this.#notifyHooks(work.state, ending);
    this.#record(work, ending);
  }

  /** Who is handed its task goes on in its place; the model is told of nothing but the end. @returns whether somebody goes on */
  #passOn(work: Work, ending: ChildEnding): boolean {
    const { runner, execution } = this.#options;
    const { state, handoff } = work;
    // Only agents hand on; what a task was given may be no object.
    if (handoff === undefined) return false;
    const config = state.background as JsonObject;
    const hop = Number(config["handoffs"] ?? 0) + 1;
    if (hop > MAX_HANDOFFS || runner.find(handoff.operator) === undefined) return false;
    const { operator, task, session } = handoff;
    const next = childIds(execution, `background/${state.id}/handoff`, operator, session);
    this.#record(work, ending);
    const background = { name: state.name, config: { ...config, agent: operator, task, handoffs: hop } };
    recordStart(execution, { child: next.id, session: next.session, agent: operator, background });
    return true;
  }

  async #notifyHooks({ kind, id, agent, callId }: ChildState, { reason }: ChildEnding): Promise<void> {
    if (kind !== "agent" || hooksOf(this.#loop) === undefined) return;
    const spec = { key: `background/${id}`, operator: agent as string, input: NO_INPUT, ...(callId && { call: callId }) };
    await afterChild(this.#loop, spec, reason);
  }

  async #tell(work: Work, ending: ChildEnding): Promise<void> {
    const { execution } = this.#options;
    const key = `background/${work.state.id}/result`;
    await this.#loop.context.run(
      messageOperation("inject-message", key, reportOf(work.state, ending), (message) => {
        this.#record(work, ending);
        execution.put(key, "message", { message });
      }),
    );
    // Where a rule dropped the message, the work is over all the same.
    this.#record(work, ending);
  }

  #record(work: Work, ending: ChildEnding): void {
    if (!this.#works.delete(work.state.id)) return;
    if (work.state.kind === "job") forgetJob(this.#options.execution.runId, work.state.id);
    recordEnding(this.#loop, work, ending);
  }
}
