// What the page shows of the repetitions of one workload.
import type { Row } from "./report.ts";
import { rangeOf } from "./statistics.ts";
import type { Figures, Sizes } from "./workloads.ts";

/** What was measured of each subject. */
export type Repetition = ReadonlyMap<string, Figures>;

interface Measured {
  readonly subjects: readonly string[];
  readonly repetitions: readonly Repetition[];
  readonly sizes: Sizes;
}

const ROWS: { readonly [workload: string]: (measured: Measured) => readonly Row[] } = {
  "turn": (measured) => ratioRows(measured, "one turn of a 20-turn tool loop", 0.7),
  "additions": ({ repetitions }) => [...additionRows(repetitions, "", ADDITION_TARGETS), byHandRow(repetitions)],
  "warm-additions": ({ repetitions }) => additionRows(repetitions, ", in a warm process"),
  "stream": (measured) => ratioRows(measured, `one answer of ${measured.sizes.chunks.toLocaleString("en")} chunks`, 0.8),
  "session": (measured) => [
    ...ratioRows(measured, `a session of ${measured.sizes.longTurns.toLocaleString("en")} turns`, 0.35),
    ...growthRows(measured),
  ],
  "crowd": (measured) => [
    ...ratioRows(measured, `${measured.sizes.agents} concurrent agents, per turn`, 0.8),
    ...memoryRows(measured, "peak with garbage", "rssKib", 200),
  ],
  "crowd-heap": (measured) => memoryRows(measured, "live heap", "heapKib"),
};

export function rowsOf(workload: string, measured: Measured): readonly Row[] {
  return ROWS[workload]?.(measured) ?? [];
}

function figureOf(repetition: Repetition, subject: string, figure: string): number {
  return repetition.get(subject)?.[figure] ?? Number.NaN;
}

/** Ratios are taken within a repetition. */
function ratioRows({ subjects, repetitions }: Measured, what: string, target: number): readonly Row[] {
  return subjects
    .filter((subject) => subject !== "keelson-sqlite")
    .map((subject) => {
      const costs = repetitions.map((repetition) => figureOf(repetition, subject, "cpuMs"));
      return {
        what,
        subject,
        unit: "× raw",
        value: rangeOf(costs.map((cost, index) => cost / figureOf(repetitions[index] as Repetition, "raw", "cpuMs"))),
        absolute: `${rangeOf(costs).median.toFixed(2)} ms CPU`,
        ...(subject === "keelson" && { target }),
      };
    });
}

interface AdditionTargets {
  readonly ratio?: number;
  readonly persisted?: number;
}

const ADDITION_TARGETS: AdditionTargets = { ratio: 1.15, persisted: 0.11 };

/** Against Keelson without them: in the same process where it was measured there, else in one of its own. */
function additionRows(repetitions: readonly Repetition[], where: string, targets: AdditionTargets = {}): readonly Row[] {
  const without = (repetition: Repetition, subject: string): number =>
    repetition.get(subject)?.["withoutMs"] ?? figureOf(repetition, "keelson", "cpuMs");
  const ratioRow = (what: string, subject: string): Row => ({
    what: `${what}${where}`,
    subject: "keelson",
    unit: "× without",
    value: rangeOf(repetitions.map((repetition) => figureOf(repetition, subject, "cpuMs") / without(repetition, subject))),
    ...(targets.ratio !== undefined && { target: targets.ratio }),
  });
  const persisted = repetitions.map(
    (repetition) =>
      (figureOf(repetition, "keelson-sqlite", "cpuMs") - without(repetition, "keelson-sqlite")) / figureOf(repetition, "raw", "cpuMs"),
  );
  return [
    ratioRow("a turn with a rule and permissions", "keelson-rules"),
    ratioRow("a turn with a hook, a plugin, a rule and permissions", "keelson-everything"),
    {
      what: `a persisted turn over an unpersisted one (SQLite)${where}`,
      subject: "keelson",
      unit: "raw turns more",
      value: rangeOf(persisted),
      ...(targets.persisted !== undefined && { target: targets.persisted }),
    },
  ];
}

/** What SQLite itself takes for as many commits, in the loop that is written by hand. */
function byHandRow(repetitions: readonly Repetition[]): Row {
  return {
    what: "two commits a turn by hand (SQLite)",
    subject: "raw-sqlite",
    unit: "raw turns more",
    value: rangeOf(repetitions.map((repetition) => figureOf(repetition, "raw-sqlite", "cpuMs") / figureOf(repetition, "raw", "cpuMs") - 1)),
  };
}

function growthRows({ subjects, repetitions }: Measured): readonly Row[] {
  const growth = (subject: string, last: string, first: string): Row["value"] =>
    rangeOf(repetitions.map((repetition) => figureOf(repetition, subject, last) / figureOf(repetition, subject, first)));
  const bytes = rangeOf(repetitions.map((repetition) => figureOf(repetition, "keelson-sqlite", "lastTenthBytes")));
  return [
    {
      what: "bytes on disk per turn, late in the session over early",
      subject: "keelson",
      unit: "×",
      value: growth("keelson-sqlite", "lastTenthBytes", "firstTenthBytes"),
      absolute: `${bytes.median.toFixed(0)} bytes`,
    },
    ...subjects
      .filter((subject) => subject !== "keelson-sqlite")
      .map((subject) => ({
        what: "CPU per turn, late in the session over early",
        subject,
        unit: "×",
        value: growth(subject, "lastTenthMs", "firstTenthMs"),
      })),
  ];
}

function memoryRows({ subjects, repetitions, sizes }: Measured, of: string, figure: string, target?: number): readonly Row[] {
  return subjects.map((subject) => ({
    what: `memory per agent of ${sizes.agents}, ${of}`,
    subject,
    unit: "KiB",
    value: rangeOf(repetitions.map((repetition) => figureOf(repetition, subject, figure))),
    ...(subject === "keelson" && target !== undefined && { target }),
  }));
}
