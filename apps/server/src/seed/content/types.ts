import type { IdeaStatus, PlatformRole, Role } from '@sparkroom/contract';

/** One of the twenty people; `temper` shifts all their ratings (negative: harsh, positive: generous). */
export interface PersonContent {
  email: string;
  name: string;
  role: PlatformRole;
  temper: number;
}

export interface IdeaContent {
  by: string;
  /** What an even-tempered colleague would give it, 1 to 5: ratings spread around it. */
  worth: number;
  title: string;
  text: string;
  tags?: string[];
  /** Left out: open. */
  status?: IdeaStatus;
  /** Reason given with the last change of status; declined ideas always have one. */
  reason?: string;
  /** The text before the author revised it, for the history. */
  before?: string;
  /** Nobody has rated it yet. */
  unrated?: true;
}

export interface GuidanceContent {
  by: string;
  title: string;
  text: string;
}

export interface WorkspaceContent {
  name: string;
  description: string;
  /** Role by person; the first owner opened the workspace. */
  members: Record<string, Role>;
  /** Oldest first. */
  ideas: IdeaContent[];
  guidance: GuidanceContent[];
}

export interface ClientContent {
  name: string;
  workspaces: WorkspaceContent[];
}
