import { createBrowserRouter } from 'react-router';
import { routes } from './routes.tsx';

/** Goes from page to page by the browser's own history. */
export const router = createBrowserRouter(routes);
