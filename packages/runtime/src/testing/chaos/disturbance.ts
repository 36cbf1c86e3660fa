import type { BlobStore, BudgetLedger, EffectExecutor, EventLog, InferEvent, Orchestrator, Provider, Tool } from "@keelson/protocol";
import type { Agent } from "../../agent/definition/agent.ts";
import { disturbedAgent } from "./disturbed-agent.ts";
import { disturbedBlobs } from "./disturbed-blobs.ts";
import { disturbedLedger } from "./disturbed-ledger.ts";
import { disturbedLog } from "./disturbed-log.ts";
import { disturbedProvider } from "./disturbed-provider.ts";
import { disturbedEffects, disturbedOrchestrator, disturbedTool } from "./disturbed-work.ts";
import type { FaultHand, PlannedFault } from "./fault.ts";
import type { Seams } from "./seams.ts";
import type { ChaosSeam, ChaosStep, ChaosSteps } from "./step.ts";

/** What a disturbance is given of the world around the process. */
export interface Surroundings {
  readonly process: number;
  readonly plan: readonly PlannedFault[];
  readonly steps: ChaosSteps;
  /** What faults may do beside what the process itself does. */
  readonly hand: Omit<FaultHand, "die" | "freeze">;
  /** Whether there is another process to go on in place of one that is frozen. */
  readonly mayFreeze: () => boolean;
  /** Called where the process dies. */
  readonly died?: () => void;
}

/** Acts that consist of others, and of waits between them. */
const CONTAINERS: ReadonlySet<ChaosSeam> = new Set(["start", "deliver", "answer", "effect"]);

type State = "working" | "frozen" | "dead";

/** One process among faults: its stores, models, tools and deliveries are what this makes of those that it is given. */
export class Disturbance implements Seams {
  /** The faults that befell it. */
  readonly befallen: PlannedFault[] = [];
  /** Resolves when it died, or froze for the first time. */
  readonly stopped: Promise<void>;
  readonly #surroundings: Surroundings;
  #state: State = "working";
  #thawed: Promise<void> = Promise.resolve();
  #thaw: () => void = () => {};
  #markStopped: () => void = () => {};
  #underWay = 0;
  #changes = 0;

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
    this.stopped = new Promise((resolve) => {
      this.#markStopped = resolve;
    });
  }

  get state(): State {
    return this.#state;
  }

  /** Acts that are under way in this process and do not wait for time; none counts where the process stands still. */
  get underWay(): number {
    return this.#state === "working" ? this.#underWay : 0;
  }

  /** Changes whenever something begins or ends. */
  get changes(): number {
    return this.#changes;
  }

  /** A process that is frozen goes on. */
  thaw(): void {
    if (this.#state !== "frozen") return;
    this.#state = "working";
    this.#thaw();
  }

  /** It is over for good, wherever it is. */
  kill(): void {
    void this.#stop("dead");
  }

  async pass<T>(seam: ChaosSeam, about: string, act: () => Promise<T>): Promise<T> {
    // What a tool is started by came back before its process stood still: it runs, as one that was at work by then does, and nobody hears of it.
    const isStarted = seam === "tool";
    await this.#standing(isStarted);
    const { step, fault } = this.#take(seam, about);
    const counts = CONTAINERS.has(seam) ? 0 : 1;
    return this.#during(() => fault?.act?.(act, this.#handIn(counts), step) ?? act(), counts, isStarted);
  }

  async *stream(about: string, respond: () => AsyncIterable<InferEvent>): AsyncIterable<InferEvent> {
    await this.#standing();
    const { step, fault } = this.#take("model", about);
    // The model is told what it was asked, also where its response never comes.
    const response = respond();
    const whole = async (): Promise<readonly InferEvent[]> => {
      const events: InferEvent[] = [];
      for await (const event of response) events.push(event);
      return events;
    };
    const events = fault?.stream?.(whole, this.#handIn(1), step) ?? response;
    const iterator = events[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await this.#during(() => iterator.next());
        if (next.done) return;
        yield next.value;
      }
    } finally {
      await iterator.return?.();
    }
  }

  alive<T>(act: () => Promise<T>): Promise<T> {
    return this.#during(act);
  }

  log(log: EventLog): EventLog {
    return disturbedLog(this, log);
  }

  blobs(blobs: BlobStore): BlobStore {
    return disturbedBlobs(this, blobs);
  }

  ledger(ledger: BudgetLedger): BudgetLedger {
    return disturbedLedger(this, ledger);
  }

  provider(provider: Provider): Provider {
    return disturbedProvider(this, provider);
  }

  tool(tool: Tool): Tool {
    return disturbedTool(this, tool);
  }

  /** The agent with its models and tools, and those of the agents below it. */
  agent<Out>(agent: Agent<Out>): Agent<Out> {
    return disturbedAgent(agent, { provider: (provider) => this.provider(provider), tool: (tool) => this.tool(tool) });
  }

  effects(effects: EffectExecutor): EffectExecutor {
    return disturbedEffects(this, effects);
  }

  orchestrator<O extends Orchestrator>(orchestrator: O): O {
    return disturbedOrchestrator(this, orchestrator);
  }

  #take(seam: ChaosSeam, about: string): { readonly step: ChaosStep; readonly fault: PlannedFault["fault"] | undefined } {
    const { steps, plan, process } = this.#surroundings;
    const step = steps.take(seam, about, process);
    const planned = plan.find(({ fault, at }) => at === step.id && fault.seams.includes(seam) && fault.befalls?.(step) !== false);
    if (planned !== undefined) this.befallen.push(planned);
    return { step, fault: planned?.fault };
  }

  /** @param counts as so many acts that are under way @param isStarted also where its process stands still by now */
  async #during<T>(act: () => Promise<T>, counts = 1, isStarted = false): Promise<T> {
    await this.#standing(isStarted);
    this.#count(counts);
    try {
      return await act();
    } finally {
      this.#count(-counts);
      // Whatever came of it reaches nobody any more.
      await this.#standing();
    }
  }

  /** @param counts as so many acts its own act is counted: none while it sleeps */
  #handIn(counts: number): FaultHand {
    const { hand, mayFreeze } = this.#surroundings;
    return {
      ...hand,
      die: () => this.#stop("dead"),
      freeze: () => (mayFreeze() ? this.#stop("frozen") : Promise.resolve()),
      sleep: async (ms) => {
        this.#count(-counts);
        try {
          await hand.sleep(ms);
        } finally {
          this.#count(counts);
        }
      },
    };
  }

  #count(by: number): void {
    this.#underWay += by;
    this.#changes++;
  }

  async #standing(isStarted = false): Promise<void> {
    while (this.#state === "frozen" && !isStarted) await this.#thawed;
    if (this.#state === "dead") await new Promise<never>(() => {});
  }

  #stop(state: "dead"): Promise<never>;
  #stop(state: "frozen"): Promise<void>;
  #stop(state: "dead" | "frozen"): Promise<void> {
    if (state === this.#state) return this.#standing();
    this.#state = state;
    if (state === "frozen")
      this.#thawed = new Promise((resolve) => {
        this.#thaw = resolve;
      });
    this.#markStopped();
    if (state === "dead") this.#surroundings.died?.();
    return this.#standing();
  }
}
