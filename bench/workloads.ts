// What the bench has a subject do. Each returns its figures by name; CPU is that of this process alone, without the model server.
import type { Conversation, Subject } from "./task.ts";

export type Figures = { readonly [name: string]: number };

export interface Sizes {
  /** Conversations of 20 turns that are measured, after `warmUp` others. */
  readonly conversations: number;
  readonly warmUp: number;
  readonly chunks: number;
  readonly longTurns: number;
  readonly agents: number;
}

/** Keelson as it comes. */
type Without = () => Promise<Subject>;

const TURNS = 20;
const AGENT_CALLS = 5;
/** Long enough that all agents wait for the model at the same time. */
const AGENT_DELAY_MS = 50;

const cpuMs = (since: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000;
};

/** Has the subject hold one conversation, and checks that it did all of it. */
async function hold(subject: Subject, script: Partial<Conversation>, onToolCall: (count: number) => void = () => {}): Promise<void> {
  const conversation: Conversation = { calls: 0, chunks: 10, delayMs: 0, ...script };
  let calls = 0;
  let pieces = 0;
  let length = 0;
  const text = await subject.run(conversation, {
    onToolCall: () => onToolCall(++calls),
    onText(piece) {
      pieces += 1;
      length += piece.length;
    },
  });
  if (calls !== conversation.calls) throw new Error(`${calls} of ${conversation.calls} tool calls were executed`);
  if (length === 0 || length !== text.length)
    throw new Error(`${length} characters were streamed in ${pieces} pieces, the answer has ${text.length}`);
}

async function turn(subject: Subject, { conversations, warmUp }: Sizes): Promise<Figures> {
  for (let count = 0; count < warmUp; count++) await hold(subject, { calls: TURNS });
  const start = process.cpuUsage();
  for (let count = 0; count < conversations; count++) await hold(subject, { calls: TURNS });
  return { cpuMs: cpuMs(start) / (conversations * (TURNS + 1)) };
}

/**
 * What something added to a turn costs a process that has been at work for a while: conversations with it and without it take turns
 * in one process, four times as many as elsewhere. Code that both run is warmed by both, what was added by one of them alone.
 */
async function warmAdditions(subject: Subject, sizes: Sizes, without: Without): Promise<Figures> {
  const pair = [subject, await without()] as const;
  for (let count = 0; count < 4 * sizes.warmUp; count++) for (const each of pair) await hold(each, { calls: TURNS });
  const total = [0, 0];
  for (let count = 0; count < 4 * sizes.conversations; count++) {
    for (const which of count % 2 === 0 ? [0, 1] : [1, 0]) {
      const start = process.cpuUsage();
      await hold(pair[which] as Subject, { calls: TURNS });
      total[which] = (total[which] as number) + cpuMs(start);
    }
  }
  const turns = 4 * sizes.conversations * (TURNS + 1);
  return { cpuMs: (total[0] as number) / turns, withoutMs: (total[1] as number) / turns };
}

async function stream(subject: Subject, { chunks }: Sizes): Promise<Figures> {
  await hold(subject, { chunks });
  const costs: number[] = [];
  for (let count = 0; count < 3; count++) {
    const start = process.cpuUsage();
    await hold(subject, { chunks });
    costs.push(cpuMs(start));
  }
  return { cpuMs: costs.sort((a, b) => a - b)[1] as number };
}

/** One long session: as a whole, and per turn at its beginning and at its end. */
async function session(subject: Subject, { longTurns }: Sizes): Promise<Figures> {
  for (let count = 0; count < 2; count++) await hold(subject, { calls: 10 });
  const tenth = Math.max(1, Math.floor(longTurns / 10));
  const marks = new Map<number, { readonly cpu: number; readonly disk: number }>();
  const start = process.cpuUsage();
  await hold(subject, { calls: longTurns }, (count) => {
    if (count % tenth === 0) marks.set(count / tenth, { cpu: cpuMs(start), disk: subject.diskBytes?.() ?? 0 });
  });
  const total = cpuMs(start);
  const between = (from: number, to: number, figure: "cpu" | "disk"): number =>
    ((marks.get(to)?.[figure] ?? 0) - (marks.get(from)?.[figure] ?? 0)) / tenth;
  return {
    cpuMs: total,
    firstTenthMs: between(1, 2, "cpu"),
    lastTenthMs: between(9, 10, "cpu"),
    firstTenthBytes: between(1, 2, "disk"),
    lastTenthBytes: between(9, 10, "disk"),
  };
}

/** Many agents at once, each with a conversation of its own. */
async function crowd(subject: Subject, { agents }: Sizes): Promise<Figures> {
  const script = { calls: AGENT_CALLS, delayMs: AGENT_DELAY_MS };
  await hold(subject, { calls: 2 });
  await Promise.all(Array.from({ length: 4 }, () => hold(subject, { calls: 2 })));
  globalThis.gc?.();
  const before = process.memoryUsage.rss();
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 10);
  const start = process.cpuUsage();
  await Promise.all(Array.from({ length: agents }, () => hold(subject, script)));
  const cpu = cpuMs(start);
  clearInterval(timer);
  peak = Math.max(peak, process.resourceUsage().maxRSS * 1024);
  return { cpuMs: cpu / (agents * (AGENT_CALLS + 1)), rssKib: (peak - before) / 1024 / agents };
}

/** What agents hold while all of them wait for the model: what is left when the garbage is gone. */
async function crowdHeap(subject: Subject, { agents }: Sizes): Promise<Figures> {
  const { gc } = globalThis;
  if (gc === undefined) throw new Error("the heap can only be measured under --expose-gc");
  const held = (): number => {
    gc();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  await Promise.all(Array.from({ length: agents }, () => hold(subject, { calls: 1, delayMs: AGENT_DELAY_MS })));
  const before = held();
  let asked = 0;
  let during = 0;
  await Promise.all(
    Array.from({ length: agents }, () =>
      hold(subject, { calls: AGENT_CALLS, delayMs: 1000 }, (count) => {
        // The last agent has made its third call: they all wait for the response that follows it.
        if (count === 3 && ++asked === agents) setTimeout(() => (during = held()), AGENT_DELAY_MS);
      }),
    ),
  );
  return { heapKib: (during - before) / 1024 / agents };
}

type Workload = (subject: Subject, sizes: Sizes, without: Without) => Promise<Figures>;

export const WORKLOADS: { readonly [name: string]: Workload } = {
  turn,
  "additions": turn,
  "warm-additions": warmAdditions,
  stream,
  session,
  crowd,
  "crowd-heap": crowdHeap,
};
