import { Container } from '../../components/page.tsx';
import { Stitch } from '../../components/stitch.tsx';
import { Dashboard } from './dashboard.tsx';
import { Features } from './features.tsx';
import { Pricing } from './pricing.tsx';
import { Testimonials } from './testimonials.tsx';
import { UploadHero } from './upload-hero.tsx';

/** Upload hero, dashboard, feature grid, pricing, testimonials, in the specified order. */
export function LandingPage() {
  return (
    <main id="main">
      <UploadHero />
      <Container>
        <Stitch />
      </Container>
      <Dashboard />
      <Container>
        <Stitch />
      </Container>
      <Features />
      <Pricing />
      <Testimonials />
    </main>
  );
}
