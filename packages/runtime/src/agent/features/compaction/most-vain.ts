/** After so many compactions in a row that gained nothing, none is begun for a threshold any more. */
export const MOST_VAIN = 3;
