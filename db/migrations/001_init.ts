import type { Knex } from 'knex';

// Times are epoch milliseconds (bigint) written by the application, which both engines sort and return alike.

/** Users, sessions, uploads, videos and their versions, drafts, jobs, ideas, votes, notices. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('users', (t) => {
    t.string('id', 32).primary();
    t.string('username', 20).notNullable();
    t.string('username_lower', 20).notNullable().unique();
    t.string('email', 254).notNullable();
    t.string('email_lower', 254).notNullable().unique();
    t.string('password_hash', 255).notNullable();
    t.bigInteger('email_verified_at');
    t.string('plan', 20).notNullable();
    t.bigInteger('trial_ends_at');
    t.integer('reputation').notNullable().defaultTo(0);
    t.bigInteger('created_at').notNullable();
    t.bigInteger('updated_at').notNullable();
    t.index(['reputation', 'created_at']);
  });
  await knex.schema.createTable('sessions', (t) => {
    t.string('id_hash', 64).primary();
    t.string('user_id', 32).notNullable().references('users.id').onDelete('CASCADE').index();
    t.text('data').notNullable();
    t.bigInteger('created_at').notNullable();
    t.bigInteger('last_seen_at').notNullable();
    t.bigInteger('expires_at').notNullable().index();
  });
  await knex.schema.createTable('mail_tokens', (t) => {
    t.string('token_hash', 64).primary();
    t.string('user_id', 32).notNullable().references('users.id').onDelete('CASCADE').index();
    t.string('purpose', 20).notNullable();
    t.string('email_lower', 254).notNullable();
    t.bigInteger('created_at').notNullable();
    t.bigInteger('expires_at').notNullable().index();
    t.bigInteger('used_at');
  });
  await knex.schema.createTable('stored_objects', (t) => {
    t.string('sha256', 64).primary();
    t.bigInteger('size_bytes').notNullable();
    t.bigInteger('created_at').notNullable();
    t.bigInteger('checked_at').notNullable().index();
    t.boolean('damaged').notNullable().defaultTo(false);
  });
  await knex.schema.createTable('uploads', (t) => {
    t.string('id', 64).primary();
    t.string('user_id', 32).notNullable().references('users.id').onDelete('CASCADE');
    t.string('file_name', 255);
    t.string('file_type', 100);
    t.bigInteger('size_bytes');
    t.bigInteger('offset_bytes').notNullable().defaultTo(0);
    t.string('fingerprint', 64);
    t.string('state', 12).notNullable();
    t.string('sha256', 64);
    t.string('video_id', 32);
    t.bigInteger('created_at').notNullable();
    t.bigInteger('updated_at').notNullable();
    t.bigInteger('expires_at').notNullable();
    t.index(['user_id', 'state']);
    t.index(['state', 'expires_at']);
  });
  await knex.schema.createTable('videos', (t) => {
    t.string('id', 32).primary();
    t.string('user_id', 32).notNullable().references('users.id').onDelete('CASCADE');
    t.string('upload_id', 64).unique();
    t.string('original_file_name', 255).notNullable();
    t.bigInteger('file_size').notNullable();
    t.string('original_sha256', 64).notNullable().references('stored_objects.sha256').index();
    t.string('current_version_id', 32);
    t.string('status', 12).notNullable();
    t.integer('progress').notNullable().defaultTo(0);
    t.string('current_step', 24);
    t.integer('remaining_seconds');
    t.string('error_code', 40);
    t.string('error_message', 500);
    t.text('issues');
    t.text('fixes_applied').notNullable();
    t.text('steps').notNullable();
    t.integer('version').notNullable().defaultTo(1);
    t.integer('attempt').notNullable().defaultTo(0);
    t.bigInteger('duration_ms');
    t.integer('width');
    t.integer('height');
    t.boolean('is_sample').notNullable().defaultTo(false);
    t.boolean('shared').notNullable().defaultTo(false);
    t.bigInteger('created_at').notNullable();
    t.bigInteger('updated_at').notNullable();
    t.bigInteger('completed_at');
    t.index(['user_id', 'created_at']);
    t.index(['user_id', 'status']);
  });
  await knex.schema.createTable('video_versions', (t) => {
    t.string('id', 32).primary();
    t.string('video_id', 32).notNullable().references('videos.id').onDelete('CASCADE').index();
    t.string('kind', 16).notNullable();
    t.string('sha256', 64).notNullable().references('stored_objects.sha256').index();
    t.bigInteger('size_bytes').notNullable();
    t.string('report_sha256', 64).references('stored_objects.sha256').index();
    t.string('captions_sha256', 64).references('stored_objects.sha256').index();
    t.string('poster_sha256', 64).references('stored_objects.sha256').index();
    t.bigInteger('created_at').notNullable();
  });
  await knex.schema.createTable('drafts', (t) => {
    t.string('id', 32).primary();
    t.string('user_id', 32).notNullable().references('users.id').onDelete('CASCADE');
    // No foreign key, because a draft outlives its video.
    t.string('video_id', 32).notNullable();
    t.string('file_name', 255).notNullable();
    t.string('sha256', 64).notNullable().references('stored_objects.sha256').index();
    t.bigInteger('size_bytes').notNullable();
    t.bigInteger('last_modified').notNullable();
    t.bigInteger('expires_at').notNullable().index();
    t.bigInteger('expiry_noticed_at');
    t.bigInteger('created_at').notNullable();
    t.unique(['user_id', 'video_id', 'sha256']);
    t.index(['user_id', 'last_modified']);
  });
  await knex.schema.createTable('jobs', (t) => {
    t.string('id', 32).primary();
    t.string('type', 40).notNullable();
    t.text('payload').notNullable();
    t.string('state', 12).notNullable();
    t.integer('priority').notNullable().defaultTo(0);
    t.integer('attempts').notNullable().defaultTo(0);
    t.integer('interruptions').notNullable().defaultTo(0);
    t.string('owner', 64);
    t.bigInteger('heartbeat_at');
    t.bigInteger('run_after').notNullable();
    t.string('last_error', 500);
    t.string('user_id', 32).references('users.id').onDelete('CASCADE');
    t.string('video_id', 32).index();
    t.bigInteger('created_at').notNullable();
    t.bigInteger('started_at');
    t.bigInteger('finished_at');
    t.index(['state', 'priority', 'created_at']);
  });
  await knex.schema.createTable('usage_units', (t) => {
    t.string('id', 32).primary();
    t.string('user_id', 32).notNullable().references('users.id').onDelete('CASCADE');
    t.string('month', 7).notNullable();
    t.string('video_id', 32).notNullable().unique();
    t.bigInteger('created_at').notNullable();
    t.bigInteger('released_at');
    t.index(['user_id', 'month']);
  });
  await knex.schema.createTable('ideas', (t) => {
    t.string('id', 32).primary();
    t.string('user_id', 32).notNullable().references('users.id').onDelete('CASCADE').index();
    t.text('text').notNullable();
    t.string('user_name', 40).notNullable();
    t.string('status', 20);
    t.integer('votes').notNullable().defaultTo(0);
    t.boolean('bonus_given').notNullable().defaultTo(false);
    t.boolean('hidden').notNullable().defaultTo(false);
    t.bigInteger('created_at').notNullable();
    t.bigInteger('updated_at').notNullable();
    t.index(['hidden', 'votes', 'created_at']);
    t.index(['hidden', 'created_at']);
  });
  await knex.schema.createTable('idea_votes', (t) => {
    t.string('idea_id', 32).notNullable().references('ideas.id').onDelete('CASCADE');
    t.string('user_id', 32).notNullable().references('users.id').onDelete('CASCADE').index();
    t.bigInteger('created_at').notNullable();
    t.primary(['idea_id', 'user_id']);
  });
  await knex.schema.createTable('notifications', (t) => {
    t.string('id', 32).primary();
    t.string('user_id', 32).notNullable().references('users.id').onDelete('CASCADE');
    t.string('kind', 30).notNullable();
    t.string('title', 200).notNullable();
    t.string('body', 500).notNullable();
    t.string('link', 200);
    t.bigInteger('read_at');
    t.bigInteger('created_at').notNullable();
    t.index(['user_id', 'created_at']);
  });
}

/** Drops all tables, children first. */
export async function down(knex: Knex): Promise<void> {
  const tables = [
    'notifications',
    'idea_votes',
    'ideas',
    'usage_units',
    'jobs',
    'drafts',
    'video_versions',
    'videos',
    'uploads',
    'stored_objects',
    'mail_tokens',
    'sessions',
    'users',
  ];
  for (const table of tables) await knex.schema.dropTable(table);
}
