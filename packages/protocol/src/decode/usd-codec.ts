import { toPicoUsd, type Usd } from "../usd.ts";
import { text, where, type Codec } from "./codec.ts";

export const usdCodec: Codec<Usd> = where(text<Usd>(), (amount) => {
  try {
    toPicoUsd(amount);
    return undefined;
  } catch (error) {
    return (error as RangeError).message;
  }
});
