import { isNotInstalled } from "../../platform/warn-missing-package.ts";
import type { InferRequest, Usage } from "@keelson/protocol";
import { checkOptionNames } from "../../json/option-names.ts";
import type { TokenTarget } from "../token-bound.ts";
import { calibrateTokens, type TokenCalibration } from "../token-calibration.ts";
import { loadTokenizer, type Tokenizer } from "../tokenizer.ts";
import { apportion } from "./apportion.ts";
import { countPieces, type CountedPiece } from "./count-pieces.ts";

/** The input tokens of a request. Those of its pieces are whole numbers that add up to exactly `tokens`. */
export interface TokenCount {
  readonly tokens: number;
  readonly pieces: readonly CountedPiece[];
  /** A tokenizer of the model counted all text; else the figures are estimates. */
  readonly exact: boolean;
  /** About how far off `tokens` may be. */
  readonly margin: number;
}

/** Counts the tokens of requests before they are sent: exactly where the model's tokenizer is here, else by what was reported of others. */
export interface TokenCounter {
  count(request: InferRequest, target: TokenTarget): Promise<TokenCount>;
  /** What a vendor counted for a request. Its messages must not change afterwards; more may follow them. */
  report(request: InferRequest, target: TokenTarget, usage: Usage): void;
}

export interface TokenCounterOptions {
  /** Where reports are kept. Default: a calibration of its own. */
  readonly calibration?: TokenCalibration | undefined;
  /** How the package with tokenizers is loaded. Default: `import`, and an estimate where it isn't installed. */
  readonly loadTokenizer?: ((model: string) => Promise<Tokenizer | undefined>) | undefined;
}

/** How far off an exact count may be: what the vendor says of tools and of the response's form is not his tokenizer's to tell. */
const HIDDEN_TOKENS = 100;

export function createTokenCounter(options: TokenCounterOptions = {}): TokenCounter {
  checkOptionNames("createTokenCounter", options, { calibration: true, loadTokenizer: true });
  const { calibration = calibrateTokens(), loadTokenizer: load = tokenizerIfInstalled } = options;

  return {
    async count(request, target) {
      const tokenizer = await load(target.model);
      const pieces = countPieces(request, target, tokenizer);
      if (tokenizer !== undefined) {
        const tokens = Math.round(sumOf(pieces));
        const told = (request.tools?.length ?? 0) > 0 || request.output !== undefined;
        return { tokens, pieces: wholePieces(pieces, tokens), exact: true, margin: told ? HIDDEN_TOKENS : 0 };
      }
      const { tokens, margin, ratio } = calibration.estimate(request, target);
      const scaled = pieces.map(({ place, tokens: about }) => ({ place, tokens: about * ratio }));
      return { tokens, pieces: wholePieces(withVendor(scaled, tokens), tokens), exact: false, margin };
    },
    report: (request, target, usage) => calibration.report(request, target, usage),
  };
}

/**
 * The pieces with what the vendor adds to come to `total`. Where they come to more than that alone, the vendor made less of each.
 */
export function withVendor(pieces: readonly CountedPiece[], total: number): readonly CountedPiece[] {
  const own = pieces.filter(({ place }) => place.type !== "vendor");
  return [...own, { place: { type: "vendor" }, tokens: Math.max(0, total - sumOf(own)) }];
}

/** The same pieces in whole tokens, which add up to `total`. */
export function wholePieces(pieces: readonly CountedPiece[], total: number): readonly CountedPiece[] {
  const shares = apportion(
    pieces.map(({ tokens }) => tokens),
    total,
  );
  return pieces.map(({ place }, at) => ({ place, tokens: shares[at] as number }));
}

function sumOf(pieces: readonly CountedPiece[]): number {
  return pieces.reduce((sum, { tokens }) => sum + tokens, 0);
}

async function tokenizerIfInstalled(model: string): Promise<Tokenizer | undefined> {
  try {
    return await loadTokenizer(model);
  } catch (error) {
    // The count then says that it is an estimate. A package that is installed and broken is an error.
    if (error instanceof Error && isNotInstalled(error.cause, "gpt-tokenizer")) return undefined;
    throw error;
  }
}
