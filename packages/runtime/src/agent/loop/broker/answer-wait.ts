import { Suspension } from "../../../session/suspension.ts";

/** A call was ended for questions that nobody has answered: it is made again once somebody has. */
export class AnswerWait extends Suspension {}
