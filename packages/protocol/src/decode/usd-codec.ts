import { toPicoUsd, type Usd } from "../usd.ts";
import { payload, text, where, type Codec } from "./codec.ts";

export const usdCodec: Codec<Usd> = payload(
  "amount in US dollars",
  where(text<Usd>(), (amount) => {
    try {
      toPicoUsd(amount);
      return undefined;
    } catch (error) {
      return (error as RangeError).message;
    }
  }),
);
