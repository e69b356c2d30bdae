import { IconPlus } from '@tabler/icons-react';
import { Fragment } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { useMyWorkspaces } from '../api/use-pages.ts';
import { useLive } from '../live/live-provider.tsx';
import { byClient } from '../workspace/by-client.ts';
import classes from './shell.module.css';

/** My workspaces under the names of their clients. */
export function RailWorkspaces() {
  const { t } = useTranslation();
  const { workspaces } = useMyWorkspaces();
  const { workspaceId } = useLive();
  return (
    <div className={classes.workspaces}>
      {byClient(workspaces).map((client) => (
        <Fragment key={client.id}>
          <p className={classes.client}>{client.name}</p>
          <ul className={classes.list}>
            {client.workspaces.map((workspace) => (
              <li key={workspace.id}>
                <Link
                  to={`/w/${workspace.id}`}
                  className={classes.workspace}
                  aria-current={workspace.id === workspaceId ? 'true' : undefined}
                >
                  {workspace.name}
                </Link>
              </li>
            ))}
          </ul>
        </Fragment>
      ))}
      <Link to="/workspaces/new" className={classes.newWorkspace}>
        <IconPlus size="1rem" aria-hidden="true" />
        {t('nav.newWorkspace')}
      </Link>
    </div>
  );
}
