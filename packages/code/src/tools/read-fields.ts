import { type LineRange, parseLineRange, RANGE_FORMS } from "../reading/line-ranges.ts";
import type { Field } from "./tool-input.ts";

export interface PageRange {
  readonly first: number;
  readonly last?: number;
}

/** The regions of a file, as `read_file` takes them. */
export function rangesField(): Field<readonly LineRange[], true> {
  return {
    schema: { type: "array", description: `Regions to read: ${RANGE_FORMS}. Default: the whole file.`, items: { type: "string" } },
    required: true,
    parse(value) {
      // A pair of numbers is one range.
      const isPair = Array.isArray(value) && value.length === 2 && value.every((item) => typeof item === "number");
      const items: readonly unknown[] = Array.isArray(value) && !isPair ? (value as readonly unknown[]) : splitList(value);
      const ranges: LineRange[] = [];
      for (const item of items) {
        const range = parseLineRange(item);
        if (range === undefined) return { issue: `must be a list of ${RANGE_FORMS}; ${JSON.stringify(item)} is none of these` };
        ranges.push(range);
      }
      return { value: ranges };
    },
  };
}

/** Models also write a list as one text: JSON, or with commas. */
function splitList(value: unknown): readonly unknown[] {
  if (typeof value !== "string") return [value];
  if (value.trim().startsWith("[")) {
    try {
      const parsed: unknown = JSON.parse(value);
      if (Array.isArray(parsed)) return parsed.length === 2 && parsed.every((item) => typeof item === "number") ? [parsed] : parsed;
    } catch {
      return [value];
    }
  }
  return value.includes("-") && value.includes(",") ? value.split(",") : [value];
}

/** The pages of a PDF. */
export function pagesField(): Field<PageRange, true> {
  return {
    schema: { type: "string", description: 'Pages of a PDF: "3", "3-5" or "3-". Default: the first 100.' },
    required: true,
    parse(value) {
      const found = /^\s*(\d+)\s*(?:(-)\s*(\d*))?\s*$/.exec(String(value));
      const first = Number(found?.[1]);
      const last = found?.[2] === undefined ? first : found[3] === "" ? undefined : Number(found[3]);
      if (found === null || first < 1 || (last !== undefined && last < first)) return { issue: 'must be pages, as in "3", "3-5" or "3-"' };
      return { value: { first, ...(last !== undefined && { last }) } };
    },
  };
}
