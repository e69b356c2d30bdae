import type { RouteObject } from 'react-router';
import { SignedIn } from './session/signed-in.tsx';
import { CrashPage } from './shell/crash-page.tsx';
import { Starting } from './shell/starting.tsx';

/** Every page of the app; each is a chunk of its own. */
export const routes: RouteObject[] = [
  {
    ErrorBoundary: CrashPage,
    HydrateFallback: Starting,
    children: [
      {
        path: '/sign-in',
        lazy: async () => ({ Component: (await import('./session/sign-in-page.tsx')).SignInPage }),
      },
      {
        path: '/sign-up',
        lazy: async () => ({ Component: (await import('./session/sign-up-page.tsx')).SignUpPage }),
      },
      {
        path: '/invite/:token',
        lazy: async () => ({ Component: (await import('./members/invite-page.tsx')).InvitePage }),
      },
      {
        Component: SignedIn,
        children: [
          { index: true, lazy: async () => ({ Component: (await import('./home/home-page.tsx')).HomePage }) },
          {
            path: 'workspaces/new',
            lazy: async () => ({
              Component: (await import('./workspace/create-workspace-page.tsx')).CreateWorkspacePage,
            }),
          },
          {
            path: 'w/:workspaceId',
            lazy: async () => ({ Component: (await import('./workspace/workspace-page.tsx')).WorkspacePage }),
            children: [
              {
                index: true,
                lazy: async () => ({ Component: (await import('./ideas/ideas-tab.tsx')).IdeasTab }),
              },
              {
                path: 'ranking',
                lazy: async () => ({ Component: (await import('./ranking/ranking-tab.tsx')).RankingTab }),
              },
              {
                path: 'guidance',
                lazy: async () => ({ Component: (await import('./guidance/guidance-tab.tsx')).GuidanceTab }),
              },
              {
                path: 'guidance/new',
                lazy: async () => ({
                  Component: (await import('./guidance/write-guidance.tsx')).CreateGuidance,
                }),
              },
              {
                path: 'guidance/:guidanceId',
                lazy: async () => ({
                  Component: (await import('./guidance/read-guidance.tsx')).ReadGuidance,
                }),
              },
              {
                path: 'members',
                lazy: async () => ({ Component: (await import('./members/members-tab.tsx')).MembersTab }),
              },
            ],
          },
          {
            path: 'w/:workspaceId/new',
            lazy: async () => ({ Component: (await import('./ideas/post-idea-page.tsx')).PostIdeaPage }),
          },
          {
            path: 'ideas/:ideaId',
            lazy: async () => ({ Component: (await import('./ideas/idea-page.tsx')).IdeaPage }),
          },
          {
            path: 'ideas/:ideaId/history',
            lazy: async () => ({ Component: (await import('./ideas/history-page.tsx')).HistoryPage }),
          },
          {
            path: 'new',
            lazy: async () => ({
              Component: (await import('./ideas/choose-workspace-page.tsx')).ChooseWorkspacePage,
            }),
          },
          {
            path: 'work',
            lazy: async () => ({ Component: (await import('./work/work-page.tsx')).WorkPage }),
          },
          { path: 'me', lazy: async () => ({ Component: (await import('./session/me-page.tsx')).MePage }) },
          {
            path: '*',
            lazy: async () => ({ Component: (await import('./shell/not-found-page.tsx')).NotFoundPage }),
          },
        ],
      },
    ],
  },
];
