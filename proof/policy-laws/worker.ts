import { answerQuestions } from "../kit/threads.ts";
import { checkSeeds } from "./check-seeds.ts";

answerQuestions(checkSeeds);
